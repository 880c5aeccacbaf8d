import { createLink } from "@tanstack/react-router";
import { Fragment, useEffect, useRef, type AnchorHTMLAttributes, type ReactNode, type Ref } from "react";
import "./tabs.css";

interface TabProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
  isCurrent: boolean;
}

/**
 * The address of one view. The router considers an address without parameters a prefix of every other one, so `Tabs` marks the
 * current view itself.
 */
export const Tab = createLink(({ isCurrent, children, ...rest }: TabProps) => (
  <a {...rest} aria-current={isCurrent ? "page" : undefined}>
    {children}
  </a>
));

/** The view that a key selects, of `count` views. */
function targetOf(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case "ArrowRight":
      return (at + 1) % count;
    case "ArrowLeft":
      return (at - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

interface Props<T extends string> {
  /** The aspect in which the views differ: "Status". */
  label: string;
  names: readonly T[];
  current: T;
  title?: (name: T) => string;
  /** A `Tab` with its address, which the screen writes so that it is type-checked. */
  tab(name: T, rest: { isCurrent: boolean; children: ReactNode }): ReactNode;
}

/** Several views of a screen, each with its own address. Arrow keys move among them; on a phone the current one is scrolled into view. */
export function Tabs<T extends string>({ label, names, current, title = (name) => name, tab }: Props<T>) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = nav.current!;
    const onKey = (event: KeyboardEvent) => {
      const tabs = [...element.querySelectorAll("a")];
      const target = targetOf(event.key, tabs.indexOf(event.target as HTMLAnchorElement), tabs.length);
      if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      tabs[target]!.focus();
    };
    element.addEventListener("keydown", onKey);
    return () => element.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    const element = nav.current!;
    const shown = element.querySelector<HTMLElement>("[aria-current]");
    if (shown) element.scrollLeft = shown.offsetLeft - (element.clientWidth - shown.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={nav} aria-label={label} className="tabs">
      {names.map((name) => (
        <Fragment key={name}>{tab(name, { isCurrent: name === current, children: title(name) })}</Fragment>
      ))}
    </nav>
  );
}
