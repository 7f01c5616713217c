// SPDX-License-Identifier: MIT

import WebImage
import WebImageNet

extension ImageManager.Configuration {
    /// Logs every step of loading to standard error, as `--verbose` requests: the stages of the manager, and the heads,
    /// redirects, and retries of the downloader. The lines contain no secrets.
    package mutating func logToStandardError() {
        observers.append(LogObserver(level: .debug))
        downloader.exchangeLog = { event in
            // A single call keeps the lines of an event together.
            LogObserver.writeToStandardError(event.lines.joined(separator: "\n"))
        }
    }
}
