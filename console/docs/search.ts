import { findSections, type Hit, type SearchIndex } from "./find.ts";

/** Loads the index once, at the first search. */
function createIndex(url: string): () => Promise<SearchIndex> {
  let loading: Promise<SearchIndex> | undefined;
  return () => {
    loading ??= fetch(url)
      .then(async (answer) => {
        if (!answer.ok) throw new Error(`${answer.status}`);
        return (await answer.json()) as SearchIndex;
      })
      .catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
    return loading;
  };
}

function drawHit({ path, anchor, title, heading, excerpt }: Hit, root: string): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `${root}${path}${anchor && `#${anchor}`}`;
  const name = document.createElement("strong");
  name.textContent = heading ? `${title} › ${heading}` : title;
  const words = document.createElement("span");
  for (const { text, isMatch } of excerpt) {
    const part = document.createElement(isMatch ? "mark" : "span");
    part.textContent = text;
    words.append(part);
  }
  link.append(name, words);
  item.append(link);
  return item;
}

/** Arrow keys move between the field and the links of the results; Escape closes them. */
function followKeys(form: HTMLFormElement, input: HTMLInputElement, close: () => void): void {
  form.addEventListener("keydown", (event) => {
    const links = [...form.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[at - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = (event.target as HTMLElement).matches("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/** Shows the search field and its results. */
export function startSearch(form: HTMLFormElement): void {
  const input = form.querySelector("input")!;
  const panel = form.querySelector<HTMLElement>(".results")!;
  const [status, list] = [panel.querySelector("p")!, panel.querySelector("ol")!];
  const root = form.dataset["root"]!;
  const loadIndex = createIndex(form.dataset["index"]!);
  const close = () => {
    panel.hidden = true;
  };
  const showStatus = (text: string) => {
    panel.hidden = false;
    status.textContent = text;
  };
  const update = async () => {
    const query = input.value.trim();
    if (!query) return close();
    try {
      const hits = findSections(await loadIndex(), query);
      // a newer query has its own results
      if (input.value.trim() !== query) return;
      list.replaceChildren(...hits.map((hit) => drawHit(hit, root)));
      list.scrollTop = 0;
      showStatus(hits.length === 0 ? "Nothing found. Try fewer or shorter words." : `${hits.length} found`);
    } catch {
      list.replaceChildren();
      showStatus("The search index could not be loaded. Type again to retry.");
    }
  };
  form.hidden = false;
  input.addEventListener("input", () => void update());
  input.addEventListener("focus", () => {
    loadIndex().catch(() => {});
    if (input.value.trim()) void update();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !form.contains(relatedTarget as Node)) close();
  });
  list.addEventListener("click", close);
  document.addEventListener("pointerdown", ({ target }) => {
    if (!form.contains(target as Node)) close();
  });
  followKeys(form, input, close);
}
