import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { FRAME_POLICY, IMMUTABLE, placePage, sendFile, wantsPage } from "./sendFile.ts";

/** Names of assets contain a hash. */
const ASSET = /^(pdf\/)?assets\//;
/** Shows the pages of PDFs within the console. */
const FRAME = "pdf/frame.html";
const hidden = { schema: { hide: true } };
interface File {
  Params: { "*": string };
}

/** The built console below `/console/`. Every path that is no file is its page, which has routes of its own. */
export function consoleRoutes(app: App, { consoleFiles, settings }: Http): void {
  const page = consoleFiles?.get("index.html");
  const placed = page && placePage(page, "/console/", settings.BASE_URL);

  app.get("/", hidden, (request, reply) => {
    if (!wantsPage(request)) throw new ApiError("not_found", "There is nothing at GET /.");
    return reply.header("vary", "accept").redirect("console/", 302);
  });
  app.get("/console", hidden, (_request, reply) => reply.redirect("console/", 302));
  app.get<File>("/console/*", hidden, (request, reply) => {
    if (!consoleFiles || !placed)
      throw new ApiError("not_found", "The console is not built: run `node dev/console/build.ts` and start again.");
    const path = request.params["*"];
    const file = path === "index.html" ? undefined : consoleFiles.get(path);
    if (path === FRAME && file) return sendFile(request, reply, file, "no-cache", FRAME_POLICY);
    if (file) return sendFile(request, reply, file, ASSET.test(path) ? IMMUTABLE : "no-cache");
    if (path.startsWith("assets/")) throw new ApiError("not_found", `The console has no file ${path}.`);
    return sendFile(request, reply, placed, "no-cache");
  });
}

/** The documentation below `/docs/`. A page has no ending in its address. */
export function docsRoutes(app: App, { docsFiles, settings }: Http): void {
  const missing = docsFiles?.get("404.html");
  const placed = missing && placePage(missing, "/docs/", settings.BASE_URL);

  app.get("/docs", hidden, (_request, reply) => reply.redirect("docs/", 302));
  app.get<File>("/docs/*", hidden, (request, reply) => {
    if (!docsFiles || !placed)
      throw new ApiError(
        "not_found",
        "The documentation is not built: run `node dev/console/build.ts` and start again.",
      );
    const path = request.params["*"];
    const asset = path.endsWith(".html") ? undefined : docsFiles.get(path);
    if (asset) return sendFile(request, reply, asset, path.startsWith("assets/") ? IMMUTABLE : "no-cache");
    const page = docsFiles.get(`${path || "index"}.html`);
    if (page && page !== missing) return sendFile(request, reply, page, "no-cache");
    if (!wantsPage(request)) throw new ApiError("not_found", `The documentation has no page ${path}.`);
    return sendFile(request, reply.code(404), placed, "no-cache");
  });
}
