// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageTestSupport

@testable import WebImage

/// Images that carry a number, and responses that contain them.
enum BinderPictures {
    static let url = URL(filePath: "/picture")

    /// Returns an image of `side` × `side` pixels with the metadata of an original of `raw` × `raw` pixels. The image
    /// carries `number`.
    static func image(_ number: Int, side: Int = 8, raw: Int = 1_000) throws -> Image {
        let canvas = try PixelCanvas(size: PixelSize(width: side, height: side))
        return Image(
            pixels: canvas.finish(isOpaque: false),
            metadata: ImageMetadata(
                rawSize: PixelSize(width: raw, height: raw),
                codePoints: ColorCodePoints(primaries: number, transfer: 0)))
    }

    static func response(_ image: Image, _ origin: ImageResponse.Origin = .network) -> ImageResponse {
        ImageResponse(
            image: image, data: nil, origin: origin, url: url, head: nil, byteCount: nil,
            timings: StageTimings(), metrics: nil)
    }

    static let offline = ImageError.network(NetworkError(.offline, url: "u", phase: .connect))
    static let notFound = ImageError.network(NetworkError(.status, url: "u", phase: .head, status: 404))
}

extension Image {
    /// The number that ``BinderPictures`` assigned to the image.
    var number: Int? { metadata.codePoints?.primaries }
}

/// A driver that performs the actions of a machine as a view would and records them. Loads stay pending unless `probe`
/// has a result.
struct BinderDriver {
    var machine = BinderMachine(isMapped: true)
    var shown: [BinderMachine.Showing] = []
    var started: [ImageRequest] = []
    var running: Set<Int> = []
    var cancelled: [Int] = []
    var priorities: [RequestPriority] = []
    var completed: [Result<ImageResponse, ImageError>] = []
    /// The result of the memory lookup for the next load.
    var probe = BinderMachine.Probe.pending(stored: nil, otherSize: nil)

    var kinds: [Presentation.Kind] { shown.map(\.kind) }
    var load: Int { machine.lastLoad }

    mutating func perform(_ actions: [BinderMachine.Action]) {
        var queue = actions
        while !queue.isEmpty {
            switch queue.removeFirst() {
            case .start(let load, let request):
                started.append(request)
                running.insert(load)
                if case .answer = probe { running.remove(load) }
                queue += machine.started(load, probe)
            case .cancel(let load, _):
                running.remove(load)
                cancelled.append(load)
            case .setPriority(_, let priority): priorities.append(priority)
            case .present(let showing): shown.append(showing)
            case .complete(_, let result): completed.append(result)
            }
        }
    }

    mutating func bind(
        _ request: ImageRequest? = BinderDriver.request, _ change: (inout BindingOptions) -> Void = { _ in }
    ) {
        var options = BindingOptions(placeholder: .color(.black), transition: .crossFade())
        options.sizing = .none
        options.failure = .color(.white)
        change(&options)
        perform(machine.bind(request, options))
    }

    mutating func finish(_ result: Result<ImageResponse, ImageError>) {
        running.remove(load)
        perform(machine.receive(.finished(result), of: load))
    }

    static let request = ImageRequest(BinderPictures.url)
}
