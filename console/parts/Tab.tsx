import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, Ref } from "react";

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
  isCurrent: boolean;
}

/**
 * One of several views of a screen. The router takes the view whose address has no parameter for a part of every other one, so
 * the screen says which one is shown.
 */
export const Tab = createLink(({ isCurrent, children, ...rest }: Props) => (
  <a {...rest} aria-current={isCurrent ? "page" : undefined}>
    {children}
  </a>
));
