// SPDX-License-Identifier: MIT

import FuzzSupport

FuzzProgram.main(Formats.targets + Directories.targets)
