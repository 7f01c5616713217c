// SPDX-License-Identifier: MIT

import WebImageNet

extension ImageDownloader.Configuration {
    /// The three timeouts, in seconds.
    var timeouts: LoadTimeouts {
        get { loadTimeouts }
        set {
            timeout = .seconds(newValue.total)
            connectTimeout = .seconds(newValue.connect)
            idleTimeout = .seconds(newValue.idle)
        }
    }
}

extension LoadRequest {
    /// The three timeouts, in seconds.
    var timeouts: LoadTimeouts {
        get { network.timeouts.replacing(LoadTimeouts()) }
        set {
            network.timeout = .seconds(newValue.total)
            network.connectTimeout = .seconds(newValue.connect)
            network.idleTimeout = .seconds(newValue.idle)
        }
    }
}
