const MAX_LENGTH = 100;

/** The title of the page is the heading of its screen, so that tabs, history and bookmarks tell one from another. */
export function followHeading(root: Element): void {
  const update = () => {
    const heading = root.querySelector("h1")?.textContent.trim().slice(0, MAX_LENGTH);
    const title = heading ? `${heading} – Console` : "Console";
    if (document.title !== title) document.title = title;
  };
  new MutationObserver(update).observe(root, { childList: true, subtree: true, characterData: true });
}
