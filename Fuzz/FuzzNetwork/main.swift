// SPDX-License-Identifier: MIT

import FuzzSupport

FuzzProgram.main(Caching.targets + Access.targets + Transfers.targets)
