import { createLink, type LinkComponent } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";
import "./step.css";

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
  isOpen: boolean;
}

const Anchor = ({ isOpen, className, children, ...rest }: AnchorProps) => (
  <a {...rest} className={className ? `step-line ${className}` : "step-line"} aria-expanded={isOpen} data-row>
    {children}
  </a>
);

const AnchorLink = createLink(Anchor);

/** The line of a step: a link that opens or closes the step's details without moving the list. */
export const StepLink: LinkComponent<typeof Anchor> = (props) => <AnchorLink resetScroll={false} {...props} />;

/** A step: its line, and its details if it is open. */
export const StepItem = ({ line, children }: { line: ReactNode; children?: ReactNode }) => (
  <li className="step">
    {line}
    {children && <div className="step-details">{children}</div>}
  </li>
);
