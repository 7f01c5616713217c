# SPDX-License-Identifier: MIT
"""cold.py LIBRARY: Loads URLs with aiohttp over 6 connections and creates thumbnails of at most 256 x 256 pixels with a
library on two threads. LIBRARY is a module in this directory. Standard input contains one URL per line. Prints the
processor time and the elapsed time per image, in seconds. The first image is loaded once before the measurement."""
import asyncio
import importlib
import sys
from concurrent.futures import ThreadPoolExecutor

import aiohttp
from measuring import Measured

thumbnail = importlib.import_module(sys.argv[1]).thumbnail


async def load(urls, session):
    pool, loop, room = ThreadPoolExecutor(2), asyncio.get_running_loop(), asyncio.Semaphore(32)
    waiting, decodes, kept = iter(urls), [], []

    async def decode(data):
        kept.append(await loop.run_in_executor(pool, thumbnail, data))
        room.release()

    async def fetch():
        for url in waiting:
            await room.acquire()
            async with session.get(url) as answer:
                decodes.append(asyncio.create_task(decode(await answer.read())))

    await asyncio.gather(*[fetch() for _ in range(6)])
    await asyncio.gather(*decodes)
    assert len(kept) == len(urls)


async def main(urls):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=6)) as session:
        await load(urls[:1], session)
        with Measured(len(urls)):
            await load(urls, session)


asyncio.run(main(sys.stdin.read().split()))
