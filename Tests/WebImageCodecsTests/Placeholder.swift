// SPDX-License-Identifier: MIT

import Testing
import WebImageCodecs
