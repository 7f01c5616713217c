// SPDX-License-Identifier: MIT

import CIsolationProbe
import Foundation
import Glibc
import WebImageCore

/// A coder that attacks the confinement of its helper. The data ends with the name of the attack, and the result is an error
/// whose reason is the outcome: `refused`, or a description of the success.
struct AttackCoder: ImageCoder {
    var identifier: String { "attack" }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        // The name may follow an image, and a number may follow the name.
        let line = data.split(separator: UInt8(ascii: "\n")).last ?? data
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        switch name {
        case "pixel":
            let canvas = try PixelCanvas(size: PixelSize(width: 1, height: 1))
            return DecodedImage(pixels: canvas.finish(isOpaque: false), format: .png)
        case "work":
            while true { try context.checkCancellation() }
        case "allocate":
            let megabytes = Int(String(decoding: line.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)) ?? 0
            let memory = aligned_alloc(64, megabytes << 20)
            free(memory)
            throw .decoding(.corrupted(format: .png, reason: refused(memory == nil ? -1 : 0)))
        default: throw .decoding(.corrupted(format: .png, reason: outcome(name)))
        }
    }

    private func refused(_ result: Int) -> String { result < 0 ? "refused" : "succeeded with \(result)" }

    private func outcome(_ name: String) -> String {
        switch name {
        case "read": return refused(Int(open("/etc/passwd", O_RDONLY)))
        case "readfont": return refused(Int(open("/etc/fonts/fonts.conf", O_RDONLY)))
        case "list": return refused(opendir("/") == nil ? -1 : 0)
        case "write": return refused(Int(open("/tmp/webimage-attack", O_WRONLY | O_CREAT, 0o600)))
        case "writefont": return refused(Int(open("/var/cache/fontconfig/attack", O_WRONLY | O_CREAT, 0o600)))
        case "self": return refused(Int(open("/proc/self/mem", O_RDWR)))
        case "socket": return refused(Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
        case "unix": return refused(Int(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)))
        case "fork": return refused(wi_probe_fork())
        case "kill": return refused(Int(kill(getppid(), SIGKILL)))
        case "limits":
            var limit = rlimit(rlim_cur: 1 << 40, rlim_max: 1 << 40)
            return refused(Int(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)))
        case "executable":
            let page = mmap(nil, 4_096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            return refused(page == MAP_FAILED ? -1 : 0)
        case "memory":
            return refused(aligned_alloc(64, 16 << 30) == nil ? -1 : 0)
        case "inherited":
            let open = (0..<1_024).filter { fcntl(Int32($0), F_GETFD) >= 0 }.count
            let environment = environ.pointee == nil ? 0 : 1
            return "\(open) descriptors, \(environment) variables"
        case "gigabytes":
            let memory = aligned_alloc(64, 2 << 30)
            free(memory)
            return refused(memory == nil ? -1 : 0)
        case "exec":
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
            return refused(Int(execv("/bin/true", &arguments)))
        case "ptrace": return refused(wi_probe_ptrace())
        case "crash":
            kill(getpid(), SIGSEGV)
            abort()
        case "exit": exit(7)
        case "spin":
            while true { _ = getpid() }
        case "sleep":
            while true { sleep(100) }
        default: return "unknown attack \(name)"
        }
    }
}
