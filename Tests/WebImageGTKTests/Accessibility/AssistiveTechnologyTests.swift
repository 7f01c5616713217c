// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageTestSupport
    import XCTest

    @testable import WebImageGTK

    /// Tests of the texts and the events that a screen reader receives. The program `accessibility-probe` shows images in
    /// a session of its own, and a script examines it with pyatspi.
    final class AssistiveTechnologyTests: XCTestCase {
        private struct Report: Decodable {
            struct Image: Decodable, Equatable {
                let name: String
                let description: String
                let isFocusable: Bool
                let isBusy: Bool
            }

            let first: [Image]
            let last: [Image]
        }

        private static let packet = Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/">
            <Iptc4xmpCore:AltTextAccessibility><rdf:Alt><rdf:li xml:lang="x-default">A green meadow</rdf:li></rdf:Alt>
            </Iptc4xmpCore:AltTextAccessibility><Iptc4xmpCore:ExtDescrAccessibility><rdf:Alt>
            <rdf:li xml:lang="x-default">The meadow fills the image.</rdf:li></rdf:Alt>
            </Iptc4xmpCore:ExtDescrAccessibility></rdf:Description></rdf:RDF></x:xmpmeta>
            """.utf8)

        /// Writes an image with descriptions.
        private static func writeImage(_ directory: URL) throws {
            let image = try Sources.image([0, 200, 0])
            var metadata = image.metadata
            metadata.xmp = packet
            let described = DecodedImage(pixels: image.pixels, metadata: metadata)
            let data = try ImageCoderRegistry.standard.encode(
                described, as: ImageEncoding(format: .png).with(\.metadata, .keep), context: ImageProcessingContext())
            try data.write(to: directory.appending(path: "described.png"))
        }

        func testScreenReaderReceivesNamesDescriptionsAndFailures() throws {
            try Stand.run { try Self.examine() }
        }

        @MainActor
        private static func examine() throws {
            guard getenv("DISPLAY") != nil else { throw XCTSkip("no X11 display is available") }
            let directory = FileManager.default.temporaryDirectory.appending(path: "accessibility-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            try writeImage(directory)
            let status = try runScript(in: directory)
            let text = String(decoding: try Data(contentsOf: directory.appending(path: "out")), as: UTF8.self)
            if status == 77 { throw XCTSkip(text) }
            let error = String(decoding: try Data(contentsOf: directory.appending(path: "error")), as: UTF8.self)
            XCTAssertEqual(status, 0, "\(text)\n\(error)")
            let data = try Data(contentsOf: directory.appending(path: "report.json"))
            let report = try JSONDecoder().decode(Report.self, from: data)
            let described = Report.Image(
                name: "A green meadow", description: "The meadow fills the image.", isFocusable: false, isBusy: false)
            let named = "A name of the application"
            XCTAssertEqual(
                Array(report.first.prefix(2)),
                [described, .init(name: named, description: named, isFocusable: false, isBusy: false)])
            // GTK reports the name of the class for a widget without a label.
            let failed = try XCTUnwrap(report.first.last)
            XCTAssertEqual(failed.description, WebImageView.AccessiblePhrases().failedWithRetry)
            XCTAssertTrue(failed.isFocusable)
            XCTAssertFalse(failed.isBusy)
            XCTAssertEqual(report.last.last, described, "the retried image has its texts")
            try checkEvents(data)
        }

        /// Runs the script and returns its exit status.
        @MainActor
        private static func runScript(in directory: URL) throws -> Int32? {
            let probe = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
                .appending(path: "accessibility-probe").path(percentEncoded: false)
            let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "AccessibilityProbe/inspect.py")
            // The session has its own buses.
            var environment = ProcessInfo.processInfo.environment
            environment["GTK_A11Y"] = nil
            environment["DBUS_SESSION_BUS_ADDRESS"] = nil
            environment["XDG_RUNTIME_DIR"] = directory.path(percentEncoded: false)
            let process: ChildProcess
            do {
                process = try ChildProcess(
                    "dbus-run-session",
                    [
                        "--", "/usr/bin/python3", script.path(percentEncoded: false), probe,
                        directory.path(percentEncoded: false),
                    ], in: directory, environment: environment, output: .file("out"), error: .file("error"))
            } catch {
                throw XCTSkip("dbus-run-session isn’t available: \(error)")
            }
            var status: Int32?
            try Stand.wait(seconds: 120) { status = await process.end() }
            return status
        }

        /// Checks that the retry and its result were announced.
        private static func checkEvents(_ report: Data) throws {
            let object = try XCTUnwrap(try JSONSerialization.jsonObject(with: report) as? [String: Any])
            let events = try XCTUnwrap(object["events"] as? [[Any]])
            let types = events.compactMap { $0.first as? String }
            let texts = events.compactMap { $0.count > 1 ? $0[1] as? String : nil }
            XCTAssertTrue(types.contains { $0.contains("accessible-name") }, "\(events)")
            XCTAssertTrue(types.contains { $0.contains("accessible-description") }, "\(events)")
            XCTAssertTrue(types.contains { $0.contains("busy") }, "\(events)")
            for text in ["Loading.", "A green meadow", "The meadow fills the image."] {
                XCTAssertTrue(texts.contains(text), "\(text) isn’t in \(events)")
            }
        }
    }
#endif
