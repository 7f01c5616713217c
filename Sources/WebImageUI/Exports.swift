// SPDX-License-Identifier: MIT

// Clients need to import only `WebImageUI`.
@_exported import WebImage
