import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../base/errors.ts";

interface CookieSettings {
  SERVICE_NAME: string;
  BASE_URL: string;
}

const isHttps = ({ BASE_URL }: CookieSettings): boolean => new URL(BASE_URL).protocol === "https:";

/** Because of the prefix, browsers accept the cookie only over https and only from this exact host. */
const cookieName = (settings: CookieSettings): string =>
  `${isHttps(settings) ? "__Host-" : ""}${settings.SERVICE_NAME}-session`;

const setCookie = (settings: CookieSettings, value: string, age: { expires: Date } | { maxAge: 0 }): string =>
  stringifySetCookie({
    name: cookieName(settings),
    value,
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure: isHttps(settings),
    ...age,
  });

/** The `Set-Cookie` header that signs a browser in. */
export const sessionCookie = (settings: CookieSettings, token: string, expires: Date): string =>
  setCookie(settings, token, { expires });

/** The `Set-Cookie` header that removes the cookie. */
export const noSessionCookie = (settings: CookieSettings): string => setCookie(settings, "", { maxAge: 0 });

/** The session token in the request's cookie. */
export const readSessionCookie = (settings: CookieSettings, { headers }: FastifyRequest): string | undefined =>
  parseCookie(headers.cookie ?? "")[cookieName(settings)] || undefined;

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/** Whether a page of this service's origin sent the request; undefined if no browser sent it. */
function isSameOrigin({ BASE_URL }: CookieSettings, { headers }: FastifyRequest): boolean | undefined {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  // over plain http, browsers send no Sec-Fetch-Site to another machine
  const { origin, host } = headers;
  if (origin === undefined) return undefined;
  if (!URL.canParse(origin)) return false;
  return origin === new URL(BASE_URL).origin || new URL(origin).host === host;
}

const crossOrigin = (message: string) => new ApiError("cross_origin", message);

/**
 * Checks the origin of a request with a cookie. Browsers also add the cookie to requests caused by other sites, so a request that
 * may change something must come from a page of this service. Throws 403 `cross_origin`.
 */
export function checkCookieOrigin(settings: CookieSettings, request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method) || isSameOrigin(settings, request)) return;
  throw crossOrigin("A request that is authenticated by cookie must come from a page of this service.");
}

/** Prevents login CSRF: another site must not sign a browser in to a foreign account. Throws 403 `cross_origin`. */
export function checkSignInOrigin(settings: CookieSettings, request: FastifyRequest): void {
  if (isSameOrigin(settings, request) === false)
    throw crossOrigin("A browser is signed in only by a page of this service.");
}
