import Foundation
import Testing
import WebImageTestSupport
@testable import WebImage
@Suite struct ScratchTests {
  @Test func dataURL() async throws {
    let png = try TestPictures.png(3)
    let url = try #require(URL(string: "data:image/png;base64," + png.base64EncodedString()))
    let fixture = try ManagerFixture()
    let start = ContinuousClock.now
    for _ in 0..<2000 { _ = try await fixture.manager.image(from: url) }
    print("SCRATCH", start.duration(to: .now))
    #expect(try fixture.manager.load(url).result?.get().origin == .memory)
  }
}
