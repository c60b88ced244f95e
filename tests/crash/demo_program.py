"""The main job's program, examples/credit_desk/demo, as a module: a PostgreSQL, processes, waiting."""
import importlib.machinery
import importlib.util
import os
import sys


def load_demo():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "credit_desk", "demo")
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("demo", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("demo", loader))
    loader.exec_module(module)
    return module
