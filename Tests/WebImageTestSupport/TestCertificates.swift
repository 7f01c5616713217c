// SPDX-License-Identifier: MIT

import Foundation
import WebImageTestBasics

/// Certificates for tests: an authority and one server certificate of each kind. `openssl` creates them in a directory.
public struct TestCertificates: Sendable {
    /// A kind of server certificate, named after its defect.
    public enum Kind: String, Sendable, CaseIterable {
        /// A valid certificate for localhost and 127.0.0.1 that the authority signed.
        case good
        /// A certificate for another host.
        case wrongHost
        /// An expired certificate.
        case expired
        /// A certificate that isn't valid yet.
        case notYetValid
        /// A self-signed certificate.
        case selfSigned
    }

    /// The error that is thrown when an `openssl` command fails.
    public struct Failure: Error, CustomStringConvertible {
        /// The command and its output.
        public let description: String
    }

    private let directory: URL

    /// The path of the authority's PEM file.
    public var authority: String { directory.appending(path: "ca.pem").path() }

    /// Returns the path of the PEM file of a certificate.
    public func certificate(_ kind: Kind) -> String { directory.appending(path: "\(kind.rawValue).pem").path() }

    /// The path of the PEM file of the private key, which all certificates share.
    public var key: String { directory.appending(path: "key.pem").path() }

    /// Creates the authority and all certificates in `folder`.
    public init(in folder: URL) throws {
        self.directory = folder
        try Data(Self.configuration.utf8).write(to: folder.appending(path: "ca.conf"))
        try Data().write(to: folder.appending(path: "index.txt"))
        try Data("01\n".utf8).write(to: folder.appending(path: "serial"))
        try run("ecparam -name prime256v1 -genkey -noout -out ca.key")
        try run(
            "req -x509 -new -key ca.key -subj /CN=Test-Authority -days 30 -out ca.pem -config ca.conf -extensions root")
        try run("ecparam -name prime256v1 -genkey -noout -out key.pem")
        try run("req -new -key key.pem -subj /CN=localhost -out request.pem -config ca.conf")
        try sign(.good, "here", "20200101000000Z", "20991231000000Z")
        try sign(.wrongHost, "elsewhere", "20200101000000Z", "20991231000000Z")
        try sign(.expired, "here", "20200101000000Z", "20200102000000Z")
        try sign(.notYetValid, "here", "20990101000000Z", "20991231000000Z")
        try run(
            "req -x509 -new -key key.pem -subj /CN=localhost -days 30 -out selfSigned.pem -config ca.conf -extensions here"
        )
    }

    /// Returns the pin of the public key of the servers, which is the Base64-encoded SHA-256 digest of the key.
    public func publicKeyPin() throws -> String {
        try run("pkey -in key.pem -pubout -outform DER -out public.der")
        try run("dgst -sha256 -binary -out public.sha256 public.der")
        return try Data(contentsOf: directory.appending(path: "public.sha256")).base64EncodedString()
    }

    private func sign(_ kind: Kind, _ extensions: String, _ start: String, _ end: String) throws {
        try run(
            "ca -batch -notext -config ca.conf -in request.pem -out \(kind.rawValue).pem -extensions \(extensions)"
                + " -startdate \(start) -enddate \(end)")
    }

    private func run(_ arguments: String) throws {
        let words = arguments.split(separator: " ").map(String.init)
        let process = try ChildProcess("/usr/bin/openssl", words, in: directory, output: "openssl.log")
        guard process.wait() == 0 else {
            let log = try String(contentsOf: directory.appending(path: "openssl.log"), encoding: .utf8)
            throw Failure(description: "openssl \(arguments): \(log)")
        }
    }

    private static let configuration = """
        [ca]
        default_ca = authority
        [authority]
        database = index.txt
        serial = serial
        new_certs_dir = .
        certificate = ca.pem
        private_key = ca.key
        default_md = sha256
        policy = anything
        unique_subject = no
        [anything]
        commonName = supplied
        [req]
        distinguished_name = name
        prompt = no
        [name]
        CN = localhost
        [root]
        basicConstraints = critical,CA:TRUE
        keyUsage = keyCertSign
        [here]
        subjectAltName = DNS:localhost,IP:127.0.0.1
        [elsewhere]
        subjectAltName = DNS:elsewhere.example

        """
}
