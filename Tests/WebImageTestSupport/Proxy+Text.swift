// SPDX-License-Identifier: MIT

import Foundation
import WebImageNet

extension ImageDownloader.Configuration.Proxy {
    /// Returns the proxy with a URL, given as text.
    public static func at(_ text: String) -> ImageDownloader.Configuration.Proxy {
        .url(URL(string: text) ?? URL(filePath: text))
    }
}
