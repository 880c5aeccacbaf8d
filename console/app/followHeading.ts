const MAX_LENGTH = 100;

/** Sets the page title to the screen's heading, so that tabs, history and bookmarks are distinguishable. */
export function followHeading(root: Element): void {
  const update = () => {
    const heading = root.querySelector("h1")?.textContent.trim().slice(0, MAX_LENGTH);
    const title = heading ? `${heading} – Console` : "Console";
    if (document.title !== title) document.title = title;
  };
  new MutationObserver(update).observe(root, { childList: true, subtree: true, characterData: true });
}
