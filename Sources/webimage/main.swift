// SPDX-License-Identifier: MIT

import WebImage

print("webimage")
