import { isIP } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { fencedServers } from "#test/doubles/fencedServers.ts";
import { PRIVATE_ADDRESSES } from "#test/doubles/privateAddresses.ts";
import { AddressRefused } from "./address.ts";
import { guardedFetch } from "./guardedFetch.ts";
import type { Resolve } from "./resolveName.ts";

const { serve, dialled } = fencedServers();

const neverResolves: Resolve = async (hostname) => {
  throw new Error(`${hostname} was looked up`);
};
const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: isIP(address) }));

/** The message of the AddressRefused that fetch threw. Throws any other error. */
async function refusal(attempt: Promise<Response>): Promise<string> {
  const error: any = await attempt.then(
    () => new Error("It was not refused"),
    (reason: unknown) => reason,
  );
  for (let at = error; at; at = at.cause) if (at instanceof AddressRefused) return at.message;
  throw error;
}

test.each(PRIVATE_ADDRESSES)("http://%s is refused before a connection is opened", async (host) => {
  const fetch = guardedFetch({ privateHosts: [] }, neverResolves);
  expect(await refusal(fetch(`http://${host}/`))).toContain("is not a public address");
  expect(await refusal(fetch(`https://${host}:8443/`))).toContain("is not a public address");
  expect(dialled()).toEqual([]);
});

test.each(["localhost", "LOCALHOST.", "sub.localhost", "router.lan", "xn--bcher-kva.example"])(
  "the name %s is refused when it resolves to a private address",
  async (name) => {
    for (const address of [
      "127.0.0.1",
      "10.1.2.3",
      "::1",
      "::ffff:10.0.0.1",
      "fd00::1",
      "64:ff9b::a00:1",
      "::10.0.0.1",
    ]) {
      const fetch = guardedFetch({ privateHosts: [] }, resolvesTo(address));
      expect(await refusal(fetch(`http://${name}/`))).toContain("does not resolve to a public address");
    }
    expect(dialled()).toEqual([]);
  },
);

test("a name is refused when one of its addresses is private", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, resolvesTo("8.8.8.8", "127.0.0.1"));
  expect(await refusal(fetch("http://both.example/"))).toContain("does not resolve to a public address");
  expect(dialled()).toEqual([]);
});

test("a name without an address is a network error, not a refusal", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, async () => {
    throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  });
  await expect(fetch("http://nowhere.example/")).rejects.toMatchObject({ cause: { code: "ENOTFOUND" } });
});

test.each(["file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1/", "data:text/plain,hello", "blob:x"])(
  "the scheme of %s is refused",
  async (url) => {
    expect(await refusal(guardedFetch({ privateHosts: [] }, neverResolves)(url))).toContain("is not http or https");
  },
);

test.each(["http://user@example.com/", "http://user:word@example.com/", "http://:word@example.com/"])(
  "credentials in %s are refused",
  async (url) => {
    expect(await refusal(guardedFetch({ privateHosts: [] }, neverResolves)(url))).toContain("user name or password");
  },
);

test("a name is resolved once per connection, which goes to the address that was checked", async () => {
  const answers = ["8.8.8.8", "127.0.0.1"];
  const resolve = vi.fn<Resolve>(async () => [{ address: answers.shift()!, family: 4 }]);
  const fetch = guardedFetch({ privateHosts: [] }, resolve);
  await expect(fetch("http://rebinding.example/")).rejects.toThrow();
  expect(dialled()).toEqual(["8.8.8.8"]);
  expect(resolve).toHaveBeenCalledTimes(1);
  expect(await refusal(fetch("http://rebinding.example/"))).toContain("does not resolve to a public address");
  expect(dialled()).toEqual(["8.8.8.8"]);
});

test("a public address is connected to by http and by https", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, resolvesTo("8.8.8.8", "2606:4700::1111"));
  await expect(fetch("http://public.example/")).rejects.toThrow();
  await expect(fetch("https://public.example/")).rejects.toThrow();
  await expect(fetch("https://[2606:4700::1111]/")).rejects.toThrow();
  expect(dialled()).toEqual(["8.8.8.8", "2606:4700::1111", "8.8.8.8", "2606:4700::1111", "2606:4700::1111"]);
});

describe("a private host that the deployment allows", () => {
  test("answers by its exact name and port only", async () => {
    const { host, port } = await serve((_, response) => void response.end("hello"));
    const fetch = guardedFetch({ privateHosts: [host] }, neverResolves);
    expect(await (await fetch(`http://${host}/`)).text()).toBe("hello");
    expect(dialled()).toEqual(["127.0.0.1"]);
    expect(await refusal(fetch(`http://127.0.0.2:${port}/`))).toContain("not a public address");
    expect(await refusal(fetch(`http://[::ffff:127.0.0.1]:${port}/`))).toContain("not a public address");
    expect(await refusal(fetch(`http://127.0.0.1:${port + 1}/`))).toContain("not a public address");
    expect(dialled()).toEqual(["127.0.0.1"]);
  });

  test("answers on every port when it is configured without one", async () => {
    const { port } = await serve((_, response) => void response.end("hello"));
    const fetch = guardedFetch({ privateHosts: ["Localhost"] }, neverResolves);
    expect(await (await fetch(`http://localhost:${port}/`)).text()).toBe("hello");
    expect(await refusal(fetch(`http://127.0.0.1:${port}/`))).toContain("not a public address");
  });
});

describe("a redirect", () => {
  const redirecting = async (status: number, location: string) => {
    const seen: string[] = [];
    const { host } = await serve((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(request.url === "/" ? status : 200, { location }).end("there");
    });
    return { fetch: guardedFetch({ privateHosts: [host] }, resolvesTo("10.0.0.1")), host, seen };
  };

  const PRIVATE = [
    "http://127.0.0.1:1/",
    "//127.1/",
    "http://[::1]/",
    "https://0x7f000001/",
    "http://169.254.169.254/latest/meta-data",
    "http://inside.example/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "http://user@example.com/",
  ];
  test.each([301, 302, 303, 307, 308].flatMap((status) => PRIVATE.map((location) => ({ status, location }))))(
    "with status $status to $location is refused",
    async ({ status, location }) => {
      const { fetch, host } = await redirecting(status, location);
      await refusal(fetch(`http://${host}/`));
      expect(dialled()).toEqual(["127.0.0.1"]);
    },
  );

  test.each([
    { status: 302, method: "POST", next: "GET /next" },
    { status: 303, method: "PUT", next: "GET /next" },
    { status: 307, method: "POST", next: "POST /next" },
    { status: 308, method: "POST", next: "POST /next" },
  ])("with status $status after $method continues with $next", async ({ status, method, next }) => {
    const { fetch, host, seen } = await redirecting(status, "/next");
    const response = await fetch(`http://${host}/`, {
      method,
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(await response.text()).toBe("there");
    expect(seen).toEqual([`${method} /`, next]);
  });

  test("is refused after five others", async () => {
    const { host } = await serve((_, response) => void response.writeHead(302, { location: "/again" }).end());
    expect(await refusal(guardedFetch({ privateHosts: [host] }, neverResolves)(`http://${host}/`))).toContain(
      "more than 5",
    );
  });

  test("to another server carries no credentials", async () => {
    let seen: unknown;
    const other = await serve((request, response) => {
      seen = request.headers.authorization;
      response.end();
    });
    const first = await serve(
      (_, response) => void response.writeHead(307, { location: `http://${other.host}/` }).end(),
    );
    const fetch = guardedFetch({ privateHosts: [first.host, other.host] }, neverResolves);
    await fetch(`http://${first.host}/`, { headers: { authorization: "Bearer secret" } });
    expect(seen).toBeUndefined();
  });

  test("is followed only where the caller permits every hop", async () => {
    const other = await serve((_, response) => void response.end());
    const first = await serve(
      (_, response) => void response.writeHead(307, { location: `http://${other.host}/` }).end(),
    );
    const fetch = guardedFetch({ privateHosts: [first.host, other.host] }, neverResolves);
    const permit = vi.fn((url: URL) => {
      if (url.host === other.host) throw new Error("not there");
    });
    await expect(fetch(`http://${first.host}/`, {}, permit)).rejects.toThrow("not there");
    expect(permit.mock.calls.map(([{ host }]) => host)).toEqual([first.host, other.host]);
    expect(dialled()).toHaveLength(1);
  });
});

test("proxy settings of the environment are ignored", async () => {
  const { host } = await serve((_, response) => void response.end("direct"));
  vi.stubEnv("http_proxy", "http://127.0.0.1:1");
  vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1");
  const response = await guardedFetch({ privateHosts: [host] }, neverResolves)(`http://${host}/`);
  vi.unstubAllEnvs();
  expect(await response.text()).toBe("direct");
});

test("a signal aborts a request that hangs", async () => {
  const { host } = await serve(() => undefined);
  const attempt = guardedFetch({ privateHosts: [host] }, neverResolves)(`http://${host}/`, {
    signal: AbortSignal.timeout(20),
  });
  await expect(attempt).rejects.toMatchObject({ name: "TimeoutError" });
});
