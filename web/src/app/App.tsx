import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useMemo } from "react";
import { send } from "../api/client";
import { Live } from "../api/live";
import { newQueryClient } from "../api/queries";
import { prefetchSession } from "../api/session";
import { Boundary } from "../ui/later";
import { AppContext } from "./context";
import { Messages } from "./Messages";
import { newRouter } from "./router";
import { theme } from "./theme";

/** App sets up the providers of the whole page. */
export function App() {
  const { queries, live, router } = useMemo(() => {
    const queries = newQueryClient();
    prefetchSession(queries);
    const router = newRouter(queries);
    const live = new Live(queries, () => void send("GET", "/api/v1/sessions/current").catch(() => {}));
    return { queries, router, live };
  }, []);
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <AppContext.Provider value={{ live }}>
          <Boundary place="">
            <RouterProvider router={router} />
          </Boundary>
          <Messages />
        </AppContext.Provider>
      </QueryClientProvider>
    </MantineProvider>
  );
}
