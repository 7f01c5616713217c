// SPDX-License-Identifier: MIT

extension Commands {
    /// The command that starts the image server. The program `webimage-serve` reads its options, so this list contains
    /// only those that most servers need.
    package static let serve = CommandSpec(
        "serve", operands: "",
        summary: "Serve processed images over HTTP, at the URLs of imgproxy.",
        details: [
            "The command starts the program webimage-serve with the same options, and the program runs until SIGTERM or "
                + "Ctrl-C. Write an option as --name=value or --name value, without abbreviations. “webimage-serve --help” "
                + "lists all settings. Each setting is also an environment variable and a line of the file of --config.",
            "Other users of the machine can see options. Set secrets, such as IMGPROXY_KEY and IMGPROXY_SALT, in the "
                + "environment or in the file. The program doesn’t start without a key, --allowed-sources, or "
                + "--open-proxy. Without a valid setting, its exit status is 78.",
            "“webimage doctor --server” checks the settings and the servers around the program. The command requires a "
                + "build with the HTTP server (trait Server).",
        ],
        options: [
            OptionSpec("config", value: "FILE", help: "Settings as lines of the form KEY=VALUE."),
            OptionSpec("bind", value: "ADDRESS", help: "HOST:PORT, :PORT, or unix:PATH (:8080 by default)."),
            OptionSpec("allowed-sources", value: "LIST", help: "Beginnings of source URLs, separated by commas."),
            OptionSpec("open-proxy", help: "Load every URL for every client."),
            OptionSpec("private-addresses", help: "Load from private and loopback addresses."),
            OptionSpec("local-filesystem-root", value: "DIR", help: "Directory of local:/// URLs."),
            OptionSpec("presets", value: "LIST", help: "Presets, as NAME=OPTION/OPTION, separated by commas."),
            OptionSpec("only-presets", help: "Allow presets only."),
            OptionSpec("quality", value: "N", help: "Quality of results from 1 to 100 (80 by default)."),
            OptionSpec(
                "trusted-proxies", value: "LIST",
                help: "Addresses of proxies whose X-Forwarded-For counts, as CIDR or unix."),
            OptionSpec("memcached-servers", value: "LIST", help: "memcached servers, as HOST:PORT."),
            OptionSpec("cache-directory", value: "DIR", help: "Directory of the disk cache, or empty for none."),
            OptionSpec("workers", value: "N", help: "Requests that run at the same time (8 per processor)."),
            OptionSpec("access-log", value: "0|1", help: "With 0, log no requests."),
        ],
        general: [.help],
        examples: [
            .init(
                "Serve the images of a directory",
                "webimage serve --allowed-sources=local:/// --local-filesystem-root=photos"),
            .init(
                "Serve the images of a site, on all interfaces",
                "webimage serve --allowed-sources=https://example.org/ --bind=:8080"),
            .init("Read the settings from a file", "webimage serve --config=/etc/webimage-serve.conf"),
        ])
}
