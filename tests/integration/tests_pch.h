// What nearly every integration test includes, compiled once.
#ifndef TIDEMARK_TESTS_INTEGRATION_TESTS_PCH_H_
#define TIDEMARK_TESTS_INTEGRATION_TESTS_PCH_H_

#include <grpcpp/grpcpp.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tidemark/v1/ingest_service.grpc.pb.h"
#include "tidemark/v1/state_service.grpc.pb.h"

#endif  // TIDEMARK_TESTS_INTEGRATION_TESTS_PCH_H_
