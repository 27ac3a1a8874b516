"""The web application: routes, errors as sentences, static files, and the gatekeeper in front."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.staticfiles import StaticFiles

from warpzone.dashboard import (
    compare_routes,
    live_routes,
    run_routes,
    steering_routes,
    watch_routes,
)
from warpzone.dashboard.security import Gatekeeper
from warpzone.dashboard.state import ServerState
from warpzone.errors import RunError, WarpzoneError
from warpzone.system.os_errors import describe_os_error

STATIC = Path(__file__).parent / "static"


def make_app(state: ServerState) -> FastAPI:
    """The application of a dashboard."""
    # No pages of API documentation: they load scripts from elsewhere.
    app = FastAPI(title="Warpzone", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.warpzone = state
    app.include_router(run_routes.router)
    app.include_router(steering_routes.router)
    app.include_router(live_routes.router)
    app.include_router(watch_routes.router)
    app.include_router(compare_routes.router)
    app.add_exception_handler(WarpzoneError, _sentence)
    app.add_exception_handler(OSError, _sentence)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    app.add_middleware(Gatekeeper, settings=state.settings)
    return app


async def _sentence(request: Request, error: Exception) -> JSONResponse:
    text = describe_os_error(error) if isinstance(error, OSError) else str(error)
    return JSONResponse({"error": text}, 404 if isinstance(error, RunError | OSError) else 400)


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    places = ", ".join(str(problem["loc"][-1]) for problem in error.errors())
    return JSONResponse({"error": f"the request is malformed: {places}"}, 400)
