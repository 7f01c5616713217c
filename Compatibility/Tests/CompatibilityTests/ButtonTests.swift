// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import KingfisherCompat
    import SDWebImageCompat
    import WebImageGTK
    import XCTest

    /// The functions of the modules for buttons and for handles of single loads.
    final class ButtonTests: XCTestCase {
        func testButtonsHaveImagesForTheirStates() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let button = try XCTUnwrap(gtk_button_new())
                    let view = try XCTUnwrap(WebImageView(for: button))
                    Stage.show(button) {
                        let url = origin.server.url("/a.png")
                        view.sd_setImage(with: url, for: .normal)
                        view.kf.setImage(with: origin.server.url("/b.png"), for: .highlighted)
                        Stage.wait { view.displayedImage(of: .image(.normal))?.size.width == 8 }
                        Stage.wait { view.displayedImage(of: .image(.active))?.size.width == 10 }
                        XCTAssertEqual(view.sd_imageURL(for: .normal), url)
                        let task = view.kf.setImage(with: origin.server.url("/slow.png"), for: .normal)
                        Stage.wait { origin.count("/slow.png") == 1 }
                        task?.cancel()
                        Stage.wait { view.snapshot(of: .image(.normal)).state == .cancelled }
                        XCTAssertEqual(view.displayedImage(of: .image(.active))?.size.width, 10)
                    }
                }
            }
        }

        func testAnAssignedImageReplacesALoad() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let imageView = UIImageView()
                    let image = UIImage(decoded: try Origin.photo(width: 6, height: 4))
                    Stage.show(imageView.widget) {
                        imageView.sd_setImage(with: origin.server.url("/slow.png"))
                        Stage.wait { origin.count("/slow.png") == 1 }
                        imageView.image = image
                        Stage.wait { imageView.image == image }
                        imageView.image = nil
                        XCTAssertNil(imageView.image)
                    }
                }
            }
        }
    }
#endif
