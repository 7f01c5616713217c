// SPDX-License-Identifier: MIT
#pragma once
#include <getopt.h>
#include <sys/ioctl.h>
#include <unistd.h>
