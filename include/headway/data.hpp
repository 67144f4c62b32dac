#pragma once

/// Data sets: files that the data process of each machine reads, transforms and deals to ranks.
#include <headway/data/batch.hpp>
#include <headway/data/dataset.hpp>
#include <headway/data/expression.hpp>
#include <headway/data/iterator.hpp>
#include <headway/data/shard.hpp>
