// SPDX-License-Identifier: MIT

import FuzzSupport

FuzzProgram.main(CommandLines.targets + Values.targets + Output.targets)
