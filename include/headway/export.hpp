#pragma once

/// Marks what libheadway.so exports; everything else in it is hidden, so that its Boost never meets
/// another one in the process.
#define HEADWAY_API __attribute__((visibility("default")))
