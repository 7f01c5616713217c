// SPDX-License-Identifier: MIT

import FuzzSupport

FuzzProgram.main([])
