import { isIP } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { fencedServers } from "#test/doubles/fencedServers.ts";
import { PRIVATE_ADDRESSES } from "#test/doubles/privateAddresses.ts";
import { AddressRefused } from "./address.ts";
import { guardedFetch, type Resolve } from "./guardedFetch.ts";

const { serve, dialled } = fencedServers();

const nobody: Resolve = async (hostname) => {
  throw new Error(`${hostname} was looked up`);
};
const resolvesTo =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: isIP(address) }));

/** The refusal behind what fetch threw; anything else is thrown on. */
async function refusal(attempt: Promise<Response>): Promise<string> {
  const error: any = await attempt.then(
    () => new Error("It was not refused"),
    (reason: unknown) => reason,
  );
  for (let at = error; at; at = at.cause) if (at instanceof AddressRefused) return at.message;
  throw error;
}

test.each(PRIVATE_ADDRESSES)("http://%s is refused before anything is dialled", async (host) => {
  const fetch = guardedFetch({ privateHosts: [] }, nobody);
  expect(await refusal(fetch(`http://${host}/`))).toContain("is not a public address");
  expect(await refusal(fetch(`https://${host}:8443/`))).toContain("is not a public address");
  expect(dialled()).toEqual([]);
});

test.each(["localhost", "LOCALHOST.", "sub.localhost", "router.lan", "xn--bcher-kva.example"])(
  "%s is refused when it leads to a private address",
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
      expect(await refusal(fetch(`http://${name}/`))).toContain("leads to an address that is not public");
    }
    expect(dialled()).toEqual([]);
  },
);

test("one private address among public ones is enough to refuse a name", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, resolvesTo("8.8.8.8", "127.0.0.1"));
  expect(await refusal(fetch("http://both.example/"))).toContain("not public");
  expect(dialled()).toEqual([]);
});

test("a name without an address is an error of the network, not a refusal", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, async () => {
    throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
  });
  await expect(fetch("http://nowhere.example/")).rejects.toMatchObject({ cause: { code: "ENOTFOUND" } });
});

test.each(["file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1/", "data:text/plain,hello", "blob:x"])(
  "%s is refused",
  async (url) => {
    expect(await refusal(guardedFetch({ privateHosts: [] }, nobody)(url))).toContain("is not http or https");
  },
);

test.each(["http://user@example.com/", "http://user:word@example.com/", "http://:word@example.com/"])(
  "%s is refused",
  async (url) => {
    expect(await refusal(guardedFetch({ privateHosts: [] }, nobody)(url))).toContain("user name or password");
  },
);

test("a name that changes its address is looked up once per connection, which goes to what was checked", async () => {
  const answers = ["8.8.8.8", "127.0.0.1"];
  const resolve = vi.fn<Resolve>(async () => [{ address: answers.shift()!, family: 4 }]);
  const fetch = guardedFetch({ privateHosts: [] }, resolve);
  await expect(fetch("http://rebinding.example/")).rejects.toThrow();
  expect(dialled()).toEqual(["8.8.8.8"]);
  expect(resolve).toHaveBeenCalledTimes(1);
  expect(await refusal(fetch("http://rebinding.example/"))).toContain("not public");
  expect(dialled()).toEqual(["8.8.8.8"]);
});

test("a public address is dialled, with http and with https", async () => {
  const fetch = guardedFetch({ privateHosts: [] }, resolvesTo("8.8.8.8", "2606:4700::1111"));
  await expect(fetch("http://public.example/")).rejects.toThrow();
  await expect(fetch("https://public.example/")).rejects.toThrow();
  await expect(fetch("https://[2606:4700::1111]/")).rejects.toThrow();
  expect(dialled()).toEqual(["8.8.8.8", "2606:4700::1111", "8.8.8.8", "2606:4700::1111", "2606:4700::1111"]);
});

describe("hosts that the deployment opened", () => {
  test("answer by their exact name and port, and by no other", async () => {
    const { host, port } = await serve((_, response) => void response.end("hello"));
    const fetch = guardedFetch({ privateHosts: [host] }, nobody);
    expect(await (await fetch(`http://${host}/`)).text()).toBe("hello");
    expect(dialled()).toEqual(["127.0.0.1"]);
    expect(await refusal(fetch(`http://127.0.0.2:${port}/`))).toContain("not a public address");
    expect(await refusal(fetch(`http://[::ffff:127.0.0.1]:${port}/`))).toContain("not a public address");
    expect(await refusal(fetch(`http://127.0.0.1:${port + 1}/`))).toContain("not a public address");
    expect(dialled()).toEqual(["127.0.0.1"]);
  });

  test("may be named without a port", async () => {
    const { port } = await serve((_, response) => void response.end("hello"));
    const fetch = guardedFetch({ privateHosts: ["Localhost"] }, nobody);
    expect(await (await fetch(`http://localhost:${port}/`)).text()).toBe("hello");
    expect(await refusal(fetch(`http://127.0.0.1:${port}/`))).toContain("not a public address");
  });
});

describe("redirects", () => {
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
    "$status to $location is refused",
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
  ])("$status after $method goes on with $next", async ({ status, method, next }) => {
    const { fetch, host, seen } = await redirecting(status, "/next");
    const response = await fetch(`http://${host}/`, {
      method,
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(await response.text()).toBe("there");
    expect(seen).toEqual([`${method} /`, next]);
  });

  test("end after five", async () => {
    const { host } = await serve((_, response) => void response.writeHead(302, { location: "/again" }).end());
    expect(await refusal(guardedFetch({ privateHosts: [host] }, nobody)(`http://${host}/`))).toContain("more than 5");
  });

  test("to another server carry no credentials", async () => {
    let seen: unknown;
    const other = await serve((request, response) => {
      seen = request.headers.authorization;
      response.end();
    });
    const first = await serve(
      (_, response) => void response.writeHead(307, { location: `http://${other.host}/` }).end(),
    );
    const fetch = guardedFetch({ privateHosts: [first.host, other.host] }, nobody);
    await fetch(`http://${first.host}/`, { headers: { authorization: "Bearer secret" } });
    expect(seen).toBeUndefined();
  });

  test("lead where the caller permits, who is asked before each hop", async () => {
    const other = await serve((_, response) => void response.end());
    const first = await serve(
      (_, response) => void response.writeHead(307, { location: `http://${other.host}/` }).end(),
    );
    const fetch = guardedFetch({ privateHosts: [first.host, other.host] }, nobody);
    const permit = vi.fn((url: URL) => {
      if (url.host === other.host) throw new Error("not there");
    });
    await expect(fetch(`http://${first.host}/`, {}, permit)).rejects.toThrow("not there");
    expect(permit.mock.calls.map(([{ host }]) => host)).toEqual([first.host, other.host]);
    expect(dialled()).toHaveLength(1);
  });
});

test("proxy settings of the environment are not read", async () => {
  const { host } = await serve((_, response) => void response.end("direct"));
  vi.stubEnv("http_proxy", "http://127.0.0.1:1");
  vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:1");
  const response = await guardedFetch({ privateHosts: [host] }, nobody)(`http://${host}/`);
  vi.unstubAllEnvs();
  expect(await response.text()).toBe("direct");
});

test("a signal ends a request that hangs", async () => {
  const { host } = await serve(() => undefined);
  const attempt = guardedFetch({ privateHosts: [host] }, nobody)(`http://${host}/`, {
    signal: AbortSignal.timeout(20),
  });
  await expect(attempt).rejects.toMatchObject({ name: "TimeoutError" });
});
