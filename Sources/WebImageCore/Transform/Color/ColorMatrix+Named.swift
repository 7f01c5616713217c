// SPDX-License-Identifier: MIT

import Glibc

/// The matrices of Filter Effects Module Level 1 (W3C), sections 9.6 and 10, with luminance weights of four digits.
extension ColorMatrix {
    /// Returns a saturation matrix, where 0 is grayscale, 1 changes nothing, and larger values increase the
    /// saturation.
    package static func saturation(_ amount: Double) -> ColorMatrix {
        mixed(luminance, amount)
    }

    /// Returns a brightness matrix, where 0 is black, 1 changes nothing, and 2 is twice as bright.
    package static func brightness(_ amount: Double) -> ColorMatrix {
        ColorMatrix(red: Row(red: amount), green: Row(green: amount), blue: Row(blue: amount))
    }

    /// Returns a contrast matrix, where 0 is uniform middle gray, 1 changes nothing, and larger values increase the
    /// contrast.
    package static func contrast(_ amount: Double) -> ColorMatrix {
        let constant = 0.5 - amount / 2
        return ColorMatrix(
            red: Row(red: amount, constant: constant), green: Row(green: amount, constant: constant),
            blue: Row(blue: amount, constant: constant))
    }

    /// Returns a grayscale matrix, where 0 changes nothing and 1 removes all color.
    package static func grayscale(_ amount: Double = 1) -> ColorMatrix {
        mixed(luminance, 1 - amount)
    }

    /// Returns a sepia matrix, where 0 changes nothing and 1 is the full effect.
    package static func sepia(_ amount: Double = 1) -> ColorMatrix {
        let brown = ColorMatrix(
            red: Row(red: 0.393, green: 0.769, blue: 0.189), green: Row(red: 0.349, green: 0.686, blue: 0.168),
            blue: Row(red: 0.272, green: 0.534, blue: 0.131))
        return mixed(brown, 1 - amount)
    }

    /// Returns an inversion matrix, where 0 changes nothing and 1 inverts the colors completely.
    package static func invert(_ amount: Double = 1) -> ColorMatrix {
        let factor = 1 - 2 * amount
        return ColorMatrix(
            red: Row(red: factor, constant: amount), green: Row(green: factor, constant: amount),
            blue: Row(blue: factor, constant: amount))
    }

    /// Returns a matrix that rotates hues by `degrees` and preserves the luminance.
    package static func hueRotation(degrees: Double) -> ColorMatrix {
        let angle = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
        let (c, s) = (cos(angle), sin(angle))
        let (r, g, b) = (0.2126, 0.7152, 0.0722)
        return ColorMatrix(
            red: Row(red: r + c * (1 - r) - s * r, green: g - c * g - s * g, blue: b - c * b + s * (1 - b)),
            green: Row(red: r - c * r + s * 0.143, green: g + c * (1 - g) + s * 0.140, blue: b - c * b - s * 0.283),
            blue: Row(red: r - c * r - s * (1 - r), green: g - c * g + s * g, blue: b + c * (1 - b) + s * b))
    }

    /// Returns a matrix that applies this matrix and then `next`. There's no clamping between the two.
    public func followed(by next: ColorMatrix) -> ColorMatrix {
        func row(_ row: Row) -> Row {
            func sum(_ part: KeyPath<Row, Double>) -> Double {
                row.red * red[keyPath: part] + row.green * green[keyPath: part] + row.blue * blue[keyPath: part]
                    + row.alpha * alpha[keyPath: part]
            }
            return Row(
                red: sum(\.red), green: sum(\.green), blue: sum(\.blue), alpha: sum(\.alpha),
                constant: sum(\.constant) + row.constant)
        }
        return ColorMatrix(red: row(next.red), green: row(next.green), blue: row(next.blue), alpha: row(next.alpha))
    }

    private static let luminance: ColorMatrix = {
        let gray = Row(red: 0.2126, green: 0.7152, blue: 0.0722)
        return ColorMatrix(red: gray, green: gray, blue: gray)
    }()

    /// Returns the interpolation between `other` (for a `share` of 0) and the identity (for 1).
    private static func mixed(_ other: ColorMatrix, _ share: Double) -> ColorMatrix {
        func row(_ row: Row, _ own: Row) -> Row {
            func part(_ path: KeyPath<Row, Double>) -> Double {
                row[keyPath: path] * (1 - share) + own[keyPath: path] * share
            }
            return Row(red: part(\.red), green: part(\.green), blue: part(\.blue))
        }
        return ColorMatrix(
            red: row(other.red, Row(red: 1)), green: row(other.green, Row(green: 1)),
            blue: row(other.blue, Row(blue: 1)))
    }
}
