// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// Tests with thousands of images in the reused cells of a grid.
    final class GridTests: XCTestCase {
        func testN26TenThousandRebindsReleaseEverythingAndShowNoWrongImage() throws {
            try Stand.run {
                let before = (controllers: ControllerRegistry.shared.count, textures: GTKTexture.livingCount)
                let manager = Sources.manager(Sources.numbered())
                let grid = try ImageGrid(count: 4_000, manager: manager)
                let window = try TestWindow(grid.widget, width: 400, height: 300)
                window.show()
                let watchdog = Watchdog(window.widget)
                var position = 0
                while grid.binds < 10_000 {
                    position = (position + 37) % 4_000
                    grid.scroll(to: position)
                    // Some images don't get enough time to load.
                    if grid.binds % 3 == 0 { Stand.settle() } else { g_main_context_iteration(nil, 1) }
                    XCTAssertEqual(grid.wrongImages(), [])
                }
                // If GtkGridView of GTK 4.8 is scrolled before its layout, it shows no cells until it is scrolled
                // again. The layout of a frame can hide the cells for this reason, and it can show further ones, whose
                // transitions begin then.
                Stand.pump("a frame without transitions, with the images at the last position") {
                    guard grid.isVisible else {
                        position += 1
                        grid.scroll(to: position)
                        return false
                    }
                    guard grid.isComplete, Self.isAtRest else { return false }
                    window.frame()
                    return grid.isComplete && Self.isAtRest
                }
                XCTAssertEqual(grid.wrongPixels(try window.screenshot(), in: window.widget), [])
                XCTAssertLessThan(ControllerRegistry.shared.count - before.controllers, 400, "cells are reused")
                print("10,000 rebinds: \(watchdog.report); \(grid.report)")
                watchdog.end()
                window.close()
                Stand.pump("rest") { manager.runningJobs == 0 }
                XCTAssertEqual(ControllerRegistry.shared.count, before.controllers)
                manager.memoryCache.removeAll()
                Stand.settle()
                XCTAssertEqual(GTKTexture.livingCount, before.textures)
            }
        }

        /// A Boolean value that indicates whether no widget is animating.
        @MainActor private static var isAtRest: Bool {
            ControllerRegistry.shared.all.allSatisfy { $0.frames.tick == 0 && $0.frames.timer == 0 }
        }

        func testGridAtRestHasNoTickCallbacks() throws {
            try Stand.run {
                let manager = Sources.manager(Sources.numbered())
                let grid = try ImageGrid(count: 200, manager: manager)
                let window = try TestWindow(grid.widget, width: 400, height: 300)
                window.show()
                Stand.pump("all images") { grid.isComplete }
                // Wait until the scroll bars have faded and the last textures are uploaded.
                Stand.pump("rest") { Self.isAtRest }
                var ticks = 0
                for controller in ControllerRegistry.shared.all where controller.frames.tick != 0 { ticks += 1 }
                XCTAssertEqual(ticks, 0)
                window.close()
            }
        }
    }
#endif
