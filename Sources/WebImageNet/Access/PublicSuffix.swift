// SPDX-License-Identifier: MIT

import CCurl

/// Domain names under which anyone can register a host, such as `com`, `co.uk`, and `github.io`.
package enum PublicSuffix {
    /// Returns whether a lowercase domain is a public suffix.
    ///
    /// The function uses the list in libpsl, on which libcurl depends on Debian. Names of one label are always public
    /// suffixes. Without libpsl, names that resemble public suffixes count as such.
    package static let contains: @Sendable (String) -> Bool = { domain in
        guard domain.contains(".") else { return true }
        let result = wi_is_public_suffix(domain)
        return result < 0 ? resemblesSuffix(domain) : result == 1
    }

    /// The rule is conservative. It includes some names that aren't public suffixes, such as `bbc.uk`, so their servers
    /// can't set cookies for subdomains.
    static func resemblesSuffix(_ domain: String) -> Bool {
        let labels = domain.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, let top = labels.last else { return true }
        if hosting.contains(domain) { return true }
        guard labels.count == 2, let second = labels.first else { return false }
        // Registries of countries sell names below names such as `co.uk`, `com.au`, and `gouv.fr`.
        return (top.utf8.count == 2 || top.hasPrefix("xn--")) && (second.utf8.count <= 3 || generic.contains(second))
    }

    /// The second labels of more than three letters below which registries of countries sell names.
    private static let generic: Set<Substring> = [
        "asso", "coop", "firm", "gouv", "govt", "info", "name", "school", "store", "edunet", "muni", "arts", "press",
    ]

    /// Well-known domains below which customers register names.
    private static let hosting: Set<String> = [
        "amazonaws.com", "appspot.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "firebaseapp.com",
        "github.io", "gitlab.io", "herokuapp.com", "netlify.app", "pages.dev", "s3.amazonaws.com", "vercel.app",
        "web.app", "workers.dev",
    ]
}
