/** Appears in the page's `<head>`. */
const CHARSET = '<meta charset="UTF-8">';
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** Adds the viewport line to the reference page: without it, phones show the desktop layout in tiny letters. Other bodies are unchanged. */
export const withViewport = (body: unknown): unknown =>
  typeof body === "string" ? body.replace(CHARSET, CHARSET + VIEWPORT) : body;

/**
 * The address of the reference page without its query, as a relative URL that also works behind a proxy's path. The page resolves
 * the description against its whole address, so a query would break it. Undefined without a query.
 */
export function addressWithoutQuery(url: string): string | undefined {
  const [path = "", query] = url.split("?", 2);
  const last = /\/reference(\/?)$/.exec(path);
  if (query === undefined || !last) return undefined;
  return last[1] ? "./" : "reference";
}

/** Applies the theme chosen in the console, or else the browser's. */
export const REFERENCE_THEME = `
const chosen = localStorage.getItem("console-theme");
const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark-mode", isDark);
`;

/** Makes the reference fit a phone and support dark mode. */
export const REFERENCE_STYLE = `
.swagger-ui table .response-col_links { display: none !important; }
.swagger-ui .highlight-code pre, .swagger-ui .example pre { overflow-x: auto; }
html.dark-mode .swagger-ui table.headers td { color: #d0d5da; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .info { margin: 24px 0; }
  .swagger-ui .scheme-container { padding: 16px 0; }
  .swagger-ui .opblock .opblock-section-header { flex-wrap: wrap; padding: 8px 10px; }
  .swagger-ui .opblock-body .responses-inner, .swagger-ui .opblock-section-request-body .opblock-description-wrapper { padding: 10px; }
  .swagger-ui .responses-table > thead, .swagger-ui .parameters > thead { display: none; }
  .swagger-ui .responses-table, .swagger-ui .responses-table > tbody, .swagger-ui .responses-table > tbody > tr,
  .swagger-ui .responses-table > tbody > tr > td, .swagger-ui .parameters, .swagger-ui .parameters > tbody,
  .swagger-ui .parameters > tbody > tr, .swagger-ui .parameters > tbody > tr > td { display: block; width: auto; max-width: 100%; }
  .swagger-ui .responses-table > tbody > tr { padding-top: 12px; border-top: 1px solid #8886; }
  .swagger-ui .responses-table > tbody > tr > td, .swagger-ui .parameters > tbody > tr > td { padding: 4px 0; }
  .swagger-ui .response-controls { flex-wrap: wrap; gap: 8px; }
  .swagger-ui .model-box, .swagger-ui .headers-wrapper { display: block; max-width: 100%; overflow-x: auto; }
  .swagger-ui .dialog-ux .modal-ux { min-width: 0; width: calc(100vw - 20px); }
}
`;
