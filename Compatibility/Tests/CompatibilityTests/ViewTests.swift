// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    @testable import KingfisherProgram
    @testable import NukeProgram
    @testable import SDWebImageProgram
    import WebImage
    import WebImageGTK
    import XCTest

    /// The views of the programs. XCTest runs synchronous tests on the main thread, which GTK requires.
    final class ViewTests: XCTestCase {
        func testSDWebImageShowsPlaceholdersImagesAndErrors() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let cell = PhotoCell()
                    Stage.show(cell.imageView.widget) {
                        cell.show(origin.server.url("/photo.png"))
                        Stage.wait { cell.cacheTypes.count == 1 }
                        XCTAssertEqual(cell.imageView.image?.size, CGSize(width: 40, height: 20))
                        XCTAssertGreaterThan(cell.received, 0)
                        XCTAssertEqual(cell.imageView.sd_imageURL, origin.server.url("/photo.png"))
                        cell.show(origin.server.url("/missing.png"))
                        Stage.wait { cell.errors.count == 1 }
                        XCTAssertEqual(cell.errors, [2001])
                        cell.show(nil)
                        Stage.wait { cell.errors.count == 2 }
                        XCTAssertEqual(cell.errors, [2001, 1000])
                        cell.show(origin.server.url("/photo.png"))
                        XCTAssertEqual(cell.cacheTypes, [.none, .memory])
                        cell.prepareForReuse()
                        XCTAssertNil(cell.imageView.image)
                    }
                }
            }
        }

        func testNukeShowsImagesAndReportsFailures() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let view = PhotoView()
                    Stage.show(view.imageView.widget) {
                        view.show(origin.server.url("/photo.png"))
                        Stage.wait { view.results.count == 1 }
                        XCTAssertEqual(view.imageView.image?.size, CGSize(width: 40, height: 20))
                        view.show(origin.server.url("/missing.png"))
                        Stage.wait { view.results.count == 2 }
                        view.show(nil)
                        Stage.wait { view.results.count == 3 }
                        view.show(origin.server.url("/photo.png"))
                        XCTAssertEqual(view.results, ["loaded", "failed", "missing", "memory"])
                        view.show(origin.server.url("/slow.png"))
                        Stage.wait { origin.count("/slow.png") == 1 }
                        view.prepareForReuse()
                        Stage.wait { view.results.count == 5 }
                        XCTAssertEqual(view.results.last, "cancelled")
                    }
                }
            }
        }

        func testKingfisherReplacesAndCancelsLoads() throws {
            try MainActor.assumeIsolated {
                try Stage.run { origin in
                    let cell = ProductCell()
                    Stage.show(cell.imageView.widget) {
                        cell.show(origin.server.url("/slow.png"))
                        Stage.wait { origin.count("/slow.png") == 1 }
                        cell.show(origin.server.url("/photo.png"))
                        Stage.wait { cell.results.count == 2 }
                        XCTAssertEqual(cell.results, ["replaced", "none"])
                        XCTAssertEqual(cell.imageView.image?.size, CGSize(width: 40, height: 20))
                        cell.show(origin.server.url("/slow.png?again"))
                        Stage.wait { origin.count("/slow.png") == 2 }
                        cell.prepareForReuse()
                        Stage.wait { cell.results.count == 3 }
                        XCTAssertEqual(cell.results.last, "cancelled")
                        cell.show(nil)
                        XCTAssertEqual(cell.results.last, "error 5001")
                    }
                }
            }
        }
    }
#endif
