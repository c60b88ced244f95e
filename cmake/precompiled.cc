// Nothing but a file to compile: its target carries the headers that are precompiled for every
// library and program (Tidemark.cmake). Files still include what they use.
