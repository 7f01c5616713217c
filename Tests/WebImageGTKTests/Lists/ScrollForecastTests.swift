// SPDX-License-Identifier: MIT

import Glibc
import Testing
import WebImageGTK

@Suite("Prediction of the scroll position at rest")
struct ScrollForecastTests {
    /// The forecast after frames at 60 Hz, for a list of which 700 points are visible.
    private func forecast(seconds: Double, _ position: (Double) -> Double) -> ScrollForecast {
        var forecast = ScrollForecast()
        for frame in 0...Int(seconds * 60) {
            let time = Double(frame) / 60
            forecast.record(position(time), at: 100 + time, visibleLength: 700)
        }
        return forecast
    }

    @Test("After a gesture, the prediction is correct within a row", arguments: [0.25, 0.325, 0.5], [-1.0, 1])
    func exponential(constant: Double, sign: Double) throws {
        for seconds in [0.2, 0.4, 0.6] {
            let forecast = forecast(seconds: seconds) { 90_000 + sign * 80_000 * (1 - exp(-$0 / constant)) }
            let flight = try #require(forecast.flight(visibleLength: 700))
            #expect(abs(try #require(flight.landing) - (90_000 + sign * 80_000)) < 200)
        }
    }

    @Test("At a low speed, there is no flight")
    func slow() {
        let forecast = forecast(seconds: 1) { 700 * $0 }
        #expect(forecast.isMoving && abs(forecast.speed - 700) < 1)
        #expect(forecast.flight(visibleLength: 700) == nil)
    }

    @Test("At a constant or growing speed, the position at rest is unknown")
    func steady() {
        #expect(forecast(seconds: 1) { 20_000 * $0 }.flight(visibleLength: 700) == ScrollForecast.Flight())
        #expect(forecast(seconds: 1) { 20_000 * $0 * $0 }.flight(visibleLength: 700) == ScrollForecast.Flight())
    }

    @Test("The rate at which the speed decreases is known")
    func rate() throws {
        let forecast = forecast(seconds: 0.3) { 80_000 * (1 - exp(-$0 / 0.5)) }
        #expect(abs(try #require(forecast.flight(visibleLength: 700)?.rate) - 2) < 0.05)
    }

    @Test("Without a landing, a list is in flight only if its images would arrive too late")
    func loadingTime() {
        // Each image is visible for a tenth of a second.
        let forecast = forecast(seconds: 1) { 7_000 * $0 }
        #expect(forecast.flight(visibleLength: 700, loadingTime: 0.15) != nil)
        #expect(forecast.flight(visibleLength: 700, loadingTime: 0.05) == nil)
        #expect(self.forecast(seconds: 1) { 20_000 * $0 }.flight(visibleLength: 700, loadingTime: 0) != nil)
        #expect(self.forecast(seconds: 1) { 2_000 * $0 }.flight(visibleLength: 700, loadingTime: 9) == nil)
    }

    @Test("A slow frame doesn't end a movement")
    func slowFrame() throws {
        var forecast = ScrollForecast()
        var time = 0.0
        for interval in [0, 0.02, 0.02, 0.4, 0.02, 0.02, 0.02] {
            time += interval
            forecast.record(90_000 * (1 - exp(-time * 2)), at: 7 + time, visibleLength: 700)
        }
        let landing = try #require(forecast.flight(visibleLength: 700)?.landing)
        #expect(abs(landing - 90_000) < 700)
    }

    @Test("A jump isn't a flight")
    func jump() {
        var forecast = ScrollForecast()
        for (index, position) in [0.0, 0, 50_000].enumerated() {
            forecast.record(position, at: Double(index) / 60, visibleLength: 700)
        }
        #expect(forecast.isMoving && forecast.flight(visibleLength: 700) == nil)
        forecast.record(50_000, at: 0.1, visibleLength: 700)
        #expect(!forecast.isMoving && forecast.speed == 0)
    }

    @Test("Predictions that don't agree are ignored")
    func noise() {
        // The speed decreases, but at a rate that differs greatly between the frames.
        var forecast = ScrollForecast()
        var (position, speed) = (0.0, 90_000.0)
        for frame in 0..<12 {
            forecast.record(position, at: Double(frame) / 60, visibleLength: 700)
            position += speed / 60
            speed *= frame.isMultiple(of: 2) ? 0.99 : 0.7
            if frame > 5, let landing = forecast.flight(visibleLength: 700)?.landing {
                #expect(landing > position - speed / 60)
            }
        }
        forecast.record(position, at: 0.3, visibleLength: 700)
        #expect(forecast.flight(visibleLength: 700) != nil)
        forecast.record(position, at: 0.35, visibleLength: 700)
        #expect(forecast.flight(visibleLength: 700) == nil)
    }

    @Test("Repeated, reversed, and invalid times change nothing")
    func invalid() {
        var forecast = forecast(seconds: 0.5) { 30_000 * $0 }
        let speed = forecast.speed
        forecast.record(.nan, at: 101, visibleLength: 700)
        forecast.record(1, at: .infinity, visibleLength: 700)
        forecast.record(15_000, at: 100.5, visibleLength: 700)
        forecast.record(15_000, at: 90, visibleLength: 700)
        #expect(forecast.speed == speed)
        #expect(forecast.flight(visibleLength: 0) == nil)
    }
}
