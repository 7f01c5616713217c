// SPDX-License-Identifier: MIT

import WebImageCore
