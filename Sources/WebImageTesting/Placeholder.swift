// SPDX-License-Identifier: MIT

import WebImage
