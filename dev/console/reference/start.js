/* global SwaggerUIBundle */

// the theme chosen in the console, or else the browser's
const chosen = localStorage.getItem("console-theme");
const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark-mode", isDark);

// the address without its query, which would be part of the description's address
SwaggerUIBundle({
  url: new URL("../openapi.json", location.origin + location.pathname).href,
  dom_id: "#swagger-ui",
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
  // hides the bar that would load descriptions of other services
  layout: "BaseLayout",
  validatorUrl: null,
});
