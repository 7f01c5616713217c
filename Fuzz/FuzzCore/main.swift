// SPDX-License-Identifier: MIT

import FuzzSupport

FuzzProgram.main(Metadata.targets + Hashes.targets + Headers.targets + Resampling.targets + URLs.targets)
