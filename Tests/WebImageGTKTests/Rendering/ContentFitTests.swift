// SPDX-License-Identifier: MIT

#if GTK
    import XCTest

    @testable import WebImageGTK

    final class ContentFitTests: XCTestCase {
        private let size = (width: 40.0, height: 20.0)

        func testContainLeavesSpaceOnTheShorterSide() {
            XCTAssertEqual(
                ContentFit.contain.rect(of: size, in: (100, 100)), LayoutRect(x: 0, y: 25, width: 100, height: 50))
        }

        func testCoverExtendsPastTheLongerSide() {
            XCTAssertEqual(
                ContentFit.cover.rect(of: size, in: (100, 100)), LayoutRect(x: -50, y: 0, width: 200, height: 100))
        }

        func testFillStretches() {
            XCTAssertEqual(
                ContentFit.fill.rect(of: size, in: (100, 100)), LayoutRect(x: 0, y: 0, width: 100, height: 100))
        }

        func testScaleDownEnlargesNothing() {
            XCTAssertEqual(
                ContentFit.scaleDown.rect(of: size, in: (100, 100)), LayoutRect(x: 30, y: 40, width: 40, height: 20))
            XCTAssertEqual(
                ContentFit.scaleDown.rect(of: size, in: (20, 20)), LayoutRect(x: 0, y: 5, width: 20, height: 10))
        }

        func testContentWithoutSizeFillsTheBounds() {
            XCTAssertEqual(ContentFit.contain.rect(of: (0, 0), in: (7, 9)), LayoutRect(x: 0, y: 0, width: 7, height: 9))
        }

        func testDisjointRectanglesHaveNoIntersection() {
            let left = LayoutRect(x: 0, y: 0, width: 10, height: 10)
            XCTAssertEqual(left.intersection(LayoutRect(x: 20, y: 5, width: 10, height: 10)).width, 0)
            XCTAssertEqual(
                left.intersection(LayoutRect(x: 4, y: -5, width: 10, height: 10)),
                LayoutRect(x: 4, y: 0, width: 6, height: 5))
        }
    }
#endif
