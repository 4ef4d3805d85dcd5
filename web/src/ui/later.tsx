import { Component, type ComponentProps, type ComponentType, createElement, type ReactNode, use } from "react";
import { recover } from "./reload";
import { ErrorState } from "./states";

// biome-ignore lint/suspicious/noExplicitAny: as in React's lazy, the properties are inferred from the component
type AnyComponent = ComponentType<any>;
type Load<T extends AnyComponent> = () => Promise<{ default: T }>;

/** Later is a component that is loaded when it is first shown. */
export type Later<T extends AnyComponent> = ((props: ComponentProps<T>) => ReactNode) & {
  /** preload loads the component, or throws the reason why it cannot be loaded. */
  preload: () => Promise<void>;
};

// Source loads the code of one component, again if that failed.
class Source<T extends AnyComponent> {
  Loaded: T | undefined;
  private loading: Promise<void> | undefined;

  constructor(private readonly load: Load<T>) {}

  /** ask returns the same promise until forget is called, as React's use requires. */
  ask(): Promise<void> {
    this.loading ??= this.load().then(
      (module) => {
        this.Loaded = module.default;
      },
      async () => {
        throw await recover();
      },
    );
    return this.loading;
  }

  forget = () => {
    if (!this.Loaded) this.loading = undefined;
  };

  preload = () =>
    this.ask().catch((failure) => {
      this.forget();
      throw failure;
    });
}

function Content<T extends AnyComponent>({ source, props }: { source: Source<T>; props: ComponentProps<T> }) {
  if (!source.Loaded) use(source.ask());
  return source.Loaded ? createElement(source.Loaded, props) : null;
}

/**
 * later is React's lazy for a server that may stop or be upgraded under an open page: a part that cannot be loaded shows
 * the reason in its own place, and can be tried again.
 */
export function later<T extends AnyComponent>(load: Load<T>): Later<T> {
  const source = new Source(load);
  const part = (props: ComponentProps<T>) => (
    <Boundary place={window.location.pathname} onRetry={source.forget}>
      <Content source={source} props={props} />
    </Boundary>
  );
  return Object.assign(part, { preload: source.preload });
}

/** screenOf is later for the component of a route. The router preloads it; the screen itself shows why it cannot be loaded. */
export function screenOf<T extends AnyComponent>(load: Load<T>): Later<T> {
  const part = later(load);
  const { preload } = part;
  return Object.assign(part, { preload: () => preload().catch(() => {}) });
}

interface BoundaryProps {
  /** place is the address; when it changes, the part is loaded again. */
  place: string;
  onRetry?: () => void;
  children: ReactNode;
}

/** Boundary shows an error of its children in their place, so that the rest of the page stays. */
export class Boundary extends Component<BoundaryProps, { failure?: unknown }> {
  override state: { failure?: unknown } = {};

  static getDerivedStateFromError(failure: unknown) {
    return { failure: failure ?? new Error("unknown") };
  }

  override componentDidUpdate(previous: BoundaryProps) {
    if (this.state.failure !== undefined && previous.place !== this.props.place) this.retry();
  }

  private retry = () => {
    this.props.onRetry?.();
    this.setState({ failure: undefined });
  };

  override render() {
    if (this.state.failure === undefined) return this.props.children;
    return (
      <div className="empty">
        <ErrorState error={this.state.failure} retry={this.retry} />
      </div>
    );
  }
}
