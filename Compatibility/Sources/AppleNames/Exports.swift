// SPDX-License-Identifier: MIT

// On Apple's platforms, `import UIKit` also imports Foundation, which contains `URLRequest` there.
@_exported import Foundation
@_exported import FoundationNetworking
