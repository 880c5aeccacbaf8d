/** The two base paths for clients of the OpenAI API. */
const CLIENT_PATH = /^\/+api\/+(?:openai|agents)\//;

/**
 * Removes double slashes and a trailing slash from URLs below the base paths of OpenAI clients. Several clients join a base
 * address that ends in a slash with a path that starts with one. Other URLs stay unchanged.
 */
export function normalizeUrl(url: string): string {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  if (!CLIENT_PATH.test(path) || !(path.includes("//") || path.endsWith("/"))) return url;
  return path.replace(/\/{2,}/g, "/").replace(/\/$/, "") + url.slice(path.length);
}
