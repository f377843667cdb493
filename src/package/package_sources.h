#pragma once

namespace tune::package {

// The files in files/, which CMake puts into the program. Words between @ are filled in when a package is written.
extern const char* const kHeader;
extern const char* const kNumber;
extern const char* const kPlanner;
extern const char* const kDriver;
extern const char* const kCudaDriver;
extern const char* const kHipDriver;
extern const char* const kFind;
extern const char* const kGpu;
extern const char* const kCpu;
extern const char* const kSelftest;
extern const char* const kCustomSelftest;
extern const char* const kBench;
extern const char* const kTestVendor;
extern const char* const kTestDevice;
extern const char* const kTestProduct;
extern const char* const kTestCustom;
extern const char* const kPython;
extern const char* const kReadme;
extern const char* const kCmake;
extern const char* const kGpuCmake;
extern const char* const kCpuCmake;  ///< of one variant

}  // namespace tune::package
