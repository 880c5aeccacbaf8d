import type { App } from "../base/app.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { FRAME_POLICY, IMMUTABLE, REFERENCE_POLICY, insertBaseUrl, sendBuiltFile, wantsPage } from "./sendBuiltFile.ts";

/** Asset names contain a hash. */
const ASSET = /^(pdf\/)?assets\//;
/** The frame that shows PDF pages in the console. */
const FRAME = "pdf/frame.html";
const hidden = { schema: { hide: true } };
interface File {
  Params: { "*": string };
}

/** Serves the built console below `/console/`. Paths without a file get its page, which has routes of its own. */
export function consoleRoutes(app: App, { consoleFiles, settings }: Http): void {
  const page = consoleFiles?.get("index.html");
  const placed = page && insertBaseUrl(page, "/console/", settings.BASE_URL);

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
    if (path === FRAME && file) return sendBuiltFile(request, reply, file, "no-cache", FRAME_POLICY);
    if (file) return sendBuiltFile(request, reply, file, ASSET.test(path) ? IMMUTABLE : "no-cache");
    if (path.startsWith("assets/")) throw new ApiError("not_found", `The console has no file ${path}.`);
    return sendBuiltFile(request, reply, placed, "no-cache");
  });
}

/** Serves the documentation below `/docs/`. Page URLs have no extension. */
export function docsRoutes(app: App, { docsFiles, settings }: Http): void {
  const missing = docsFiles?.get("404.html");
  const placed = missing && insertBaseUrl(missing, "/docs/", settings.BASE_URL);

  app.get("/docs", hidden, (_request, reply) => reply.redirect("docs/", 302));
  app.get<File>("/docs/*", hidden, (request, reply) => {
    if (!docsFiles || !placed)
      throw new ApiError(
        "not_found",
        "The documentation is not built: run `node dev/console/build.ts` and start again.",
      );
    const path = request.params["*"];
    const asset = path.endsWith(".html") ? undefined : docsFiles.get(path);
    if (asset) return sendBuiltFile(request, reply, asset, path.startsWith("assets/") ? IMMUTABLE : "no-cache");
    const page = docsFiles.get(`${path || "index"}.html`);
    if (page && page !== missing) return sendBuiltFile(request, reply, page, "no-cache");
    if (!wantsPage(request)) throw new ApiError("not_found", `The documentation has no page ${path}.`);
    return sendBuiltFile(request, reply.code(404), placed, "no-cache");
  });
}

/** Serves the page that shows the description of the API, below `/reference/`. */
export function referenceRoutes(app: App, { referenceFiles }: Http): void {
  app.get("/reference", hidden, (_request, reply) => reply.redirect("reference/", 302));
  app.get<File>("/reference/*", hidden, (request, reply) => {
    if (!referenceFiles)
      throw new ApiError(
        "not_found",
        "The API reference is not built: run `node dev/console/build.ts` and start again.",
      );
    const path = request.params["*"] || "index.html";
    const file = referenceFiles.get(path);
    if (!file) throw new ApiError("not_found", `The API reference has no file ${path}.`);
    return sendBuiltFile(request, reply, file, "no-cache", REFERENCE_POLICY);
  });
}
