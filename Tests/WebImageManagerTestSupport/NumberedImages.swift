// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

/// Images that contain a number.
package enum Numbered {
    /// The size of each image, in pixels.
    package static let size = PixelSize(width: 8, height: 6)

    /// Returns the encoded image of a number from 0 to 255.
    package static func data(_ number: Int) -> Data {
        do {
            return try TestImages.png(number, width: size.width, height: size.height)
        } catch {
            Issue.record(error)
            return Data()
        }
    }

    /// Returns the number of an image.
    package static func number(of image: DecodedImage) -> Int {
        // 173 is the modular inverse of the factor that maps the number to the red of every pixel.
        image.pixels.withUnsafeBytes { Int($0[0] &* 173) }
    }

    /// Returns a response head with an entity tag of the number. By default, the image is fresh for one minute.
    package static func head(_ number: Int, cacheControl: String = "max-age=60") -> HTTPResponseHead {
        var fields = HTTPHeaderFields()
        fields["Content-Type"] = "image/png"
        fields["Cache-Control"] = cacheControl
        fields["ETag"] = "\"\(number)\""
        return HTTPResponseHead(statusCode: 200, headers: fields)
    }

    /// Returns the response of a loader with the image of a number.
    package static func response(
        _ number: Int, cacheControl: String = "max-age=60", responseGate: TestGate? = nil, bodyGate: TestGate? = nil
    ) -> StubLoader.Response {
        StubLoader.Response(
            body: data(number), httpResponse: head(number, cacheControl: cacheControl), responseGate: responseGate,
            bodyGate: bodyGate)
    }
}
