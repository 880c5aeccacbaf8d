/** The two bases that clients of OpenAI's API are given. */
const CLIENT_PATH = /^\/+api\/+(?:openai|agents)\//;

/**
 * The URL without doubled slashes and without one at its end, below the bases of OpenAI's clients. Several of them join a base address
 * that ends in a slash with a path that begins with one. Every other URL is as it was.
 */
export function tidyUrl(url: string): string {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  if (!CLIENT_PATH.test(path) || !(path.includes("//") || path.endsWith("/"))) return url;
  return path.replace(/\/{2,}/g, "/").replace(/\/$/, "") + url.slice(path.length);
}
