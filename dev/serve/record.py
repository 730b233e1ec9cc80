"""Stands between a client and `homing serve`, and keeps what the client sends, byte by byte.

    homing serve --port 5901 &
    python3 record.py 5902 5901 FOLDER NAME

The client is then given http://localhost:5902. Each connection becomes a file FOLDER/NAME-N.http, in
which the port and the address of a result are left open.
"""

import asyncio
import itertools
import pathlib
import re
import sys

LISTEN, SERVER = int(sys.argv[1]), int(sys.argv[2])
FOLDER, NAME = pathlib.Path(sys.argv[3]), sys.argv[4]
NUMBERS = itertools.count(1)


async def pass_on(client, back):
    number = next(NUMBERS)
    answers, server = await asyncio.open_connection("127.0.0.1", SERVER)
    kept = bytearray()

    async def ask():
        while data := await client.read(65536):
            kept.extend(data)
            server.write(data.replace(b"localhost:%d" % LISTEN, b"localhost:%d" % SERVER))
            await server.drain()

    asking = asyncio.create_task(ask())
    while data := await answers.read(65536):
        back.write(data)
        await back.drain()
    back.close()
    asking.cancel()
    text = bytes(kept).replace(b"localhost:%d" % LISTEN, b"localhost:PORT")
    text = re.sub(rb"/check/[^ ]+", b"/check/ID?external=True", text)
    (FOLDER / f"{NAME}-{number}.http").write_bytes(text)


async def main():
    async with await asyncio.start_server(pass_on, "127.0.0.1", LISTEN) as server:
        await server.serve_forever()


asyncio.run(main())
